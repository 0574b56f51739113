/** What shows a checkout until its program runs, for host.js. The proxy's page has it in its own script. */
import { begin } from './first/begin.js';
import { beginPage } from './first/page.js';

export const FIRST = { begin, beginPage };
