import { PluginCommonModule, type Type, VendurePlugin } from '@vendure/core';
import { raw } from 'express';
import { FlorinController } from './controller';
import { florinHandler } from './handler';
import { FLORIN_OPTIONS, type FlorinPluginOptions } from './options';
import { FlorinPayments } from './payments';

/** Adds the payment method `florin`, and the address `/florin`, which receives the proxy's webhooks. */
@VendurePlugin({
  imports: [PluginCommonModule],
  compatibility: '^3.7.0',
  controllers: [FlorinController],
  providers: [FlorinPayments, { provide: FLORIN_OPTIONS, useFactory: () => FlorinPlugin.options }],
  configuration: (config) => {
    config.paymentOptions.paymentMethodHandlers.push(florinHandler);
    // The signature is over the exact bytes, which the parser of JSON would drop.
    config.apiOptions.middleware.push({ route: '/florin', handler: raw({ type: () => true, limit: '1mb' }), beforeListen: true });
    return config;
  },
})
export class FlorinPlugin {
  static options: FlorinPluginOptions;

  static init(options: FlorinPluginOptions): Type<FlorinPlugin> {
    this.options = options;
    return FlorinPlugin;
  }
}
