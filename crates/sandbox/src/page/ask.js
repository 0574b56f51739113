// Asks the control API. A refusal is an Error with the sentence that the sandbox says.

/** What was done here since the page was opened, as the steps of a scenario. */
export const done = [];
const MAX_DONE = 100;

const after = new Set();
/** Calls `listener` after each change. */
export const onChange = (listener) => after.add(listener);

async function send(method, path, body) {
  const options = { method };
  if (body !== undefined) options.body = JSON.stringify(body);
  const response = await fetch(`/sandbox/${path}`, options);
  const answer = await response.json();
  if (!response.ok) throw new Error(answer.error);
  return answer;
}

export const read = (path) => send("GET", path);

/** Changes something: by itself, not as part of a scenario that is recorded as a whole. */
export async function change(path, body, method = "POST", recorded = true) {
  try {
    const answer = await send(method, path, body);
    if (recorded) {
      done.push({ ...(method === "POST" ? {} : { method }), path, ...(body === undefined ? {} : { body }) });
      if (done.length > MAX_DONE) done.shift();
    }
    return answer;
  } finally {
    for (const listener of after) listener();
  }
}
