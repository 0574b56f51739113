/** The wallets of this browser that announce themselves at once, for the list of assets. Source: EIP-6963, TIP-6963. */
import { clean } from '../clean.js';
import { LAST_WALLET, recall } from '../storage.js';
/** @import { AnnouncedWallet } from '../types.d.ts' */

/** More are no help to choose from. */
const MOST = 3;
/** An icon is a picture in the announcement itself: nothing is fetched for it. */
const ICON = /^data:image\//;

/** @returns {AnnouncedWallet[]} The one that was used last comes first. */
export const announcedWallets = () => {
  /** @type {AnnouncedWallet[]} */
  const found = [];
  for (const [kind, standard] of [['evm', 'eip6963'], ['tron', 'TIP6963']]) {
    const find = (/** @type {any} */ { detail }) => {
      const { name, icon } = clean(detail.info);
      const known = name.trim().slice(0, 32);
      // The script of the wallets finds it by its name: of two with one name, the first counts.
      if (known && !found.some((one) => one.name === known)) found.push({ name: known, icon: ICON.test(icon) ? icon : '', kind });
    };
    addEventListener(standard + ':announceProvider', find);
    dispatchEvent(new Event(standard + ':requestProvider'));
    removeEventListener(standard + ':announceProvider', find);
  }
  const last = recall(LAST_WALLET, 'localStorage');
  return found.sort((one, other) => Number(other.name === last) - Number(one.name === last)).slice(0, MOST);
};
