export { florinHandler } from './handler';
export { FlorinPlugin } from './plugin';
export type { FlorinPluginOptions } from './options';
