/** The page as a server writes it. */
import { renderToString } from 'react-dom/server';
import { Shop } from './shop';

console.log(`<!doctype html>
<html lang="en">
  <meta charset="utf-8">
  <meta name="viewport" content="width=device-width, initial-scale=1">
  <title>Quiet Goods</title>
  <link rel="icon" href="data:,">
  <style>
    body { font: 1rem/1.5 system-ui, sans-serif; margin: 0; padding: 1rem; color: #1c1c22; background: #fafaf7 }
    main { max-width: 80rem; margin: auto }
    .checkout:not(:defined) { display: block; min-height: 800px }
    .checkout > iframe { width: 100%; min-height: 740px; border: 0 }
  </style>
  <div id="root">${renderToString(<Shop />)}</div>
  <script type="module" src="browser.js"></script>
</html>`);
