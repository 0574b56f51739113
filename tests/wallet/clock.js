/** A clock that jumps to the next timer as soon as nothing else is left to do. */
export let now = 0;
let timers = [];
globalThis.setTimeout = (run, ms = 0) => timers.push({ at: now + ms, run });
Date.now = () => now;
export const settled = async (promise) => {
  let isSettled = false;
  const end = () => (isSettled = true);
  promise.then(end, end);
  for (let turns = 0; ; turns++) {
    await new Promise(setImmediate);
    if (isSettled) return promise;
    timers.sort((one, other) => one.at - other.at);
    const next = timers.shift();
    // A digest is made beside this program, without a timer.
    if (!next && turns < 100_000) continue;
    if (!next) throw new Error('it never ends');
    now = next.at;
    next.run();
  }
};
export const never = () => new Promise(() => {});
