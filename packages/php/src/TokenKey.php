<?php

declare(strict_types=1);

namespace Florin;

/** One of the store's `token_keys`. */
final class TokenKey
{
    private readonly Secret $secret;

    /**
     * @param string $publicUrl the proxy's `public_url`
     * @param string $store the store's `id`
     */
    public function __construct(
        public readonly string $publicUrl,
        public readonly string $store,
        public readonly string $kid,
        #[\SensitiveParameter] string $secret,
    ) {
        $this->secret = new Secret($secret);
    }

    /** @internal */
    public function secret(): string
    {
        return $this->secret->value();
    }
}
