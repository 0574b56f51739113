// Bundles each peer as a shop would, compressed as the proxy's files are. `cargo xtask bench` runs it:
//
//     node tests/peers/bundle.mjs NODE_MODULES OUTPUT
//
// makes OUTPUT/<peer>/page.html, its responses.json and choice.js, and the files of assets/, each as <name>.br.

import { createRequire } from 'node:module';
import { cpSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync, constants } from 'node:zlib';

const FILES = '<!-- FILES -->';
const [modules, output] = process.argv.slice(2).map((path) => resolve(path));
const esbuild = createRequire(join(modules, 'x.js'))('esbuild');
const here = dirname(fileURLToPath(import.meta.url));

for (const peer of ['bitcoin-connect', 'adyen']) {
  const [from, to] = [join(here, peer), join(output, peer)];
  const assets = join(to, 'assets');
  rmSync(to, { recursive: true, force: true });
  mkdirSync(assets, { recursive: true });
  // A production build for the browser that measures.
  const { metafile } = await esbuild.build({
    entryPoints: [join(from, 'main.js')],
    outdir: assets,
    nodePaths: [modules],
    bundle: true,
    minify: true,
    splitting: true,
    metafile: true,
    format: 'esm',
    target: 'es2022',
    define: { 'process.env.NODE_ENV': '"production"' },
    legalComments: 'none',
    entryNames: '[name]-[hash]',
    // Node's, imported by code that no browser runs.
    external: ['crypto'],
    logLevel: 'warning',
  });
  const page = readFileSync(join(from, 'page.html'), 'utf8');
  if (!page.includes(FILES)) throw new Error(`${peer}/page.html has no ${FILES}`);
  writeFileSync(join(to, 'page.html'), page.replace(FILES, () => links(metafile.outputs)));
  for (const name of ['responses.json', 'choice.js']) cpSync(join(from, name), join(to, name));
  for (const name of readdirSync(assets)) {
    const file = join(assets, name);
    const params = { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_LGWIN]: 22 };
    writeFileSync(`${file}.br`, brotliCompressSync(readFileSync(file), { params }));
    rmSync(file);
  }
}

// The elements that load the bundle: its stylesheet, every module that main.js needs at once, and main.js. No module that is
// imported later is announced. Source: esbuild's documentation, "Metafile" (0.28).
function links(outputs) {
  const address = (path) => `/assets/${basename(path)}`;
  const main = Object.keys(outputs).find((path) => outputs[path].entryPoint?.endsWith('/main.js'));
  if (!main) throw new Error('esbuild reports no main.js');
  const needed = new Set([main]);
  // A set grows while it is walked.
  for (const module of needed) {
    for (const { path, kind, external } of outputs[module].imports) {
      if (kind === 'import-statement' && !external) needed.add(path);
    }
  }
  needed.delete(main);
  const style = outputs[main].cssBundle;
  return [
    ...(style ? [`<link rel="stylesheet" href="${address(style)}">`] : []),
    ...[...needed].map((module) => `<link rel="modulepreload" href="${address(module)}">`),
    `<script type="module" src="${address(main)}"></script>`,
  ].join('\n');
}
