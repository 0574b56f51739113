// npm install --install-links "$FLORIN/packages/node" && WEBHOOK_SECRET=whsec_… node receiver.mjs
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { verifyWebhook } from "florin-server";

const known = new Set(); // A shop keeps the ids in its database.
createServer(async (request, response) => {
  if (request.method === "GET") return response.end(readFileSync("shop.html"));
  try {
    const event = verifyWebhook(Buffer.concat(await request.toArray()), request.headers, process.env.WEBHOOK_SECRET);
    const isNew = !known.has(event.id);
    if (isNew && event.type === "order.paid") console.log(`${event.data.order.id} is paid`);
    known.add(event.id);
    response.writeHead(204).end();
  } catch {
    response.writeHead(400).end(); // Not signed by the proxy, or older than five minutes.
  }
}).listen(process.env.PORT ?? 3000, "127.0.0.1");
