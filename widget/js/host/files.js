/** The files of the checkout: each is asked for once, whoever needs it. */
const BASE = new URL('..', import.meta.url).href;
const FILES = {
  glue: '%FLORIN:widget.js%',
  wasm: '%FLORIN:widget_bg.wasm%',
  css: '%FLORIN:florin.css%',
  theme: '%FLORIN:theme.js%',
};
/** For a file of the checkout: at the slowest, a few kilobytes a second. */
const FILE_TIMEOUT_MS = 45000;

const get = async (path) => {
  const answer = await fetch(BASE + path, { signal: AbortSignal.timeout?.(FILE_TIMEOUT_MS) });
  if (!answer.ok) throw new Error(answer.status + ' ' + path);
  return answer;
};

/** Keeps the result of `load` for every element of the page, but not its failure. */
const once = (load) => {
  let kept;
  return (argument) => (kept ||= load(argument).catch((error) => {
    kept = 0;
    throw error;
  }));
};
const loadProgram = once(async (load) => {
  const wasm = get(FILES.wasm);
  wasm.catch(() => {});
  const glue = await load(FILES.glue);
  await glue.default({ module_or_path: wasm });
  return glue;
});
const loadStyle = once(async () => {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(await (await get(FILES.css)).text());
  return sheet;
});
const loadTheme = once((load) => load(FILES.theme));
