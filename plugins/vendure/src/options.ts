export interface FlorinPluginOptions {
  /** The proxy's `public_url`: `https://pay.shop.example`. */
  url: string;
  /** The store's `secret_key`. */
  secretKey: string;
  /** The `secret` of the store's webhook, `whsec_…`, whose address is `/florin` of this server. */
  webhookSecret: string;
}

export const FLORIN_OPTIONS = Symbol('FLORIN_OPTIONS');
