// A wallet for the demo: it asks as an extension does, and the node signs with its own test key.
(() => {
  const node = async (method, params = []) => {
    const response = await fetch('http://127.0.0.1:{chain}', { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }) });
    const { result, error } = await response.json();
    if (error) throw Object.assign(new Error(error.message), error);
    return result;
  };
  const ask = (text) => {
    if (!confirm('Demo Wallet\n\n' + text)) throw Object.assign(new Error('declined'), { code: 4001 });
  };
  let chain = '0x1';
  let isConnected = false;
  const request = async ({ method, params }) => {
    switch (method) {
      case 'eth_requestAccounts':
        if (!isConnected) ask('Connect this page to your account?');
        isConnected = true;
        return node('eth_accounts').then((all) => all.slice(0, 1));
      case 'eth_accounts':
        return isConnected ? node('eth_accounts').then((all) => all.slice(0, 1)) : [];
      case 'eth_chainId':
        return chain;
      case 'wallet_switchEthereumChain':
        if (params[0].chainId !== '0x7a69') throw Object.assign(new Error('Unrecognized chain'), { code: 4902 });
        chain = params[0].chainId;
        return null;
      case 'eth_sendTransaction': {
        const [{ to, value, data }] = params;
        ask(data === '0x' ? 'Send ' + BigInt(value) + ' wei to\n' + to : 'Send ' + BigInt('0x' + data.slice(74)) + ' units of the token\n' + to + '\nto 0x' + data.slice(34, 74));
        return node(method, params);
      }
      default:
        return node(method, params);
    }
  };
  const icon = 'data:image/svg+xml,%3Csvg xmlns=%22http://www.w3.org/2000/svg%22 viewBox=%220 0 24 24%22%3E%3Crect width=%2224%22 height=%2224%22 rx=%226%22 fill=%22%23e2761b%22/%3E%3Cpath d=%22M6 9h12v7H6z%22 fill=%22%23fff%22/%3E%3C/svg%3E';
  const detail = { info: { uuid: '7d0c36c1-93a6-4d3c-8d8b-2f9f6f6a3f52', name: 'Demo Wallet', icon, rdns: 'demo.florin.wallet' }, provider: { request } };
  addEventListener('eip6963:requestProvider', () => dispatchEvent(new CustomEvent('eip6963:announceProvider', { detail })));
})();
