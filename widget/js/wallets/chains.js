/** What a wallet that does not know a chain is given to add it: from this table alone, never from a page or a wallet. */

/**
 * By chain id.
 *
 * Source: chainid.network (ethereum-lists/chains), read in November 2026: name, coin, a public RPC address and the explorer
 * of each chain of crates/address/src/payment_uri/networks.rs. Those of Tron are in each of its wallets, and Anvil is a development node: they are not added.
 *
 * @type {Record<string, { name: string, coin: string, rpc?: string, explorer?: string } | undefined>}
 */
export const CHAINS = {
  '0x1': { name: 'Ethereum', coin: 'ETH', rpc: 'https://ethereum-rpc.publicnode.com', explorer: 'https://etherscan.io' },
  '0x38': { name: 'BNB Smart Chain', coin: 'BNB', rpc: 'https://bsc-dataseed.bnbchain.org', explorer: 'https://bscscan.com' },
  '0xaa36a7': { name: 'Sepolia', coin: 'ETH', rpc: 'https://ethereum-sepolia-rpc.publicnode.com', explorer: 'https://sepolia.etherscan.io' },
  '0x88bb0': { name: 'Hoodi', coin: 'ETH', rpc: 'https://ethereum-hoodi-rpc.publicnode.com', explorer: 'https://hoodi.etherscan.io' },
  '0x4268': { name: 'Holesky', coin: 'ETH', rpc: 'https://ethereum-holesky-rpc.publicnode.com', explorer: 'https://holesky.etherscan.io' },
  '0x61': { name: 'BNB Smart Chain Testnet', coin: 'tBNB', rpc: 'https://bsc-testnet-dataseed.bnbchain.org', explorer: 'https://testnet.bscscan.com' },
  '0x7a69': { name: 'Anvil', coin: 'ETH' },
  '0x2b6653dc': { name: 'Tron', coin: 'TRX' },
  '0xcd8690dc': { name: 'Tron Nile', coin: 'TRX' },
};

/** The parameter of `wallet_addEthereumChain` (EIP-3085); nothing for a chain that is not in the table. @param {string} id */
export const toAdd = (id) => {
  const chain = CHAINS[id];
  return chain?.rpc && {
    chainId: id,
    chainName: chain.name,
    nativeCurrency: { name: chain.coin, symbol: chain.coin, decimals: 18 },
    rpcUrls: [chain.rpc],
    blockExplorerUrls: [chain.explorer],
  };
};
