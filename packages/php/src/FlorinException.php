<?php

declare(strict_types=1);

namespace Florin;

/** A refusal of the proxy, or a call, webhook or receipt that failed here. */
final class FlorinException extends \RuntimeException
{
    /**
     * @param string $errorCode a code of the proxy; or `connection_failed`, `timeout`, `invalid_response`, `invalid_webhook`,
     *   `invalid_receipt`
     * @param ?string $field the member or parameter at fault, like `lines[1].title`
     * @param ?string $requestId what to quote when asking for help; the proxy's log has it
     * @param ?int $status the HTTP status
     * @param ?int $retryAfter seconds until the call may be repeated
     */
    public function __construct(
        public readonly string $errorCode,
        string $message,
        public readonly ?string $field = null,
        public readonly ?string $requestId = null,
        public readonly ?int $status = null,
        public readonly ?int $retryAfter = null,
    ) {
        parent::__construct($message);
    }
}
