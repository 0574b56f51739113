<?php

declare(strict_types=1);

namespace Florin;

/**
 * A text that is in no property, so that no dump and no log prints it.
 *
 * @internal
 */
final class Secret
{
    /** @var ?\WeakMap<self, string> */
    private static ?\WeakMap $values = null;

    public function __construct(#[\SensitiveParameter] string $value)
    {
        self::$values ??= new \WeakMap();
        self::$values[$this] = $value;
    }

    public function value(): string
    {
        return self::$values[$this];
    }
}
