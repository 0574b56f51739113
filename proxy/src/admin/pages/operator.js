// Times in the browser's zone and language. Without it they are in UTC, which the title keeps.
const shown = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" });
for (const time of document.querySelectorAll("time")) {
  time.title = time.textContent;
  time.textContent = shown.format(new Date(time.dateTime));
}
