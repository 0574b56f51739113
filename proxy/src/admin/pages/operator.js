// Times in the browser's zone and language. Without it they are in UTC, which the title keeps.
const shown = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" });
for (const time of document.querySelectorAll("time")) {
  time.title = time.textContent;
  time.textContent = shown.format(new Date(time.dateTime));
}

// On a phone the navigation scrolls.
document.querySelector("[aria-current]")?.scrollIntoView({ block: "nearest", inline: "center" });

// A button beside each id that is shortened. Browsers allow copying on https and on this machine.
for (const id of document.querySelectorAll(".id")) {
  const text = id.title;
  if (!navigator.clipboard || text.length <= 24 || id.closest("a, summary")) continue;
  const button = document.createElement("button");
  button.type = "button";
  button.className = "copy";
  button.ariaLabel = `Copy ${text}`;
  button.textContent = "Copy";
  button.onclick = async () => {
    await navigator.clipboard.writeText(text);
    button.textContent = "Copied";
  };
  id.after(" ", button);
}
