import { execFileSync } from 'node:child_process';
import { test } from 'node:test';

const FLAGS = '--noEmit --strict --skipLibCheck false --target es2022 --module node16 --lib es2022,dom,dom.iterable';

test('the types take what is right and refuse what is wrong', () => {
  const tsc = ['node_modules/typescript/bin/tsc', ...FLAGS.split(' '), 'tests/types.ts'];
  execFileSync(process.execPath, tsc, { stdio: 'inherit' });
});
