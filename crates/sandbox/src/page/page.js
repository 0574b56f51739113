// The developer's page: every part shows its own share of GET /sandbox/world.
import "./faults.js";
import "./keys.js";
import "./log.js";
import { attempt, byId } from "./dom.js";
import { offer } from "./scenarios.js";
import { offerSharing } from "./share.js";
import { watch } from "./world.js";

const SLOWLY = "florin-sandbox-slowly";
const slowly = byId("slowly");
slowly.checked = localStorage.getItem(SLOWLY) !== "no";
slowly.addEventListener("change", () => localStorage.setItem(SLOWLY, slowly.checked ? "yes" : "no"));

await attempt(offer);
await watch();
offerSharing();
