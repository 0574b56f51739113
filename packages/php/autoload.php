<?php

/** Loads the classes of the library where Composer does not: `require "florin/autoload.php";`. */

declare(strict_types=1);

spl_autoload_register(static function (string $class): void {
    if (str_starts_with($class, 'Florin\\')) {
        $file = __DIR__ . '/src/' . substr($class, strlen('Florin\\')) . '.php';
        if (is_file($file)) {
            require $file;
        }
    }
});
