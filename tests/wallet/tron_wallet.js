/** A wallet of Tron in the page: announces itself by TIP-6963. `window.testWallet` has it. */
import { node } from './node.js';
import { tronWallet } from './tron.js';

const wallet = (window.testWallet = tronWallet((method, ...params) => node(method, params)));
const icon = 'data:image/svg+xml,%3Csvg xmlns=%22http://www.w3.org/2000/svg%22 viewBox=%220 0 24 24%22%3E%3Crect width=%2224%22 height=%2224%22 rx=%226%22 fill=%22%23c23631%22/%3E%3C/svg%3E';
const detail = Object.freeze({ info: Object.freeze({ uuid: '4a0b2c5e-5d3f-4b8a-9a57-2f6f0c1b7a10', name: 'Test Tron', icon, rdns: 'test.florin.tron' }), provider: wallet.provider });
const announce = () => dispatchEvent(new CustomEvent('TIP6963:announceProvider', { detail }));
addEventListener('TIP6963:requestProvider', announce);
announce();
