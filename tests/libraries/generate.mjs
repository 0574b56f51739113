/**
 * Compares the types and versions of the server libraries with the description of a proxy, or writes the types anew.
 *
 *     node generate.mjs <python> <folder of the packages> compare|write < openapi.json
 */

import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import openapiTypescript, { astToString } from 'openapi-typescript';

import { phpTypes } from './php.mjs';

/** The chapters of the description that are for the server of a shop. */
const CHAPTERS = ['Orders', 'Events', 'Staff'];
const REFERENCE = '#/components/schemas/';

/** The operations of these chapters, with their successes, and the schemas that they name. Every other response is a `Refusal`. */
const forStores = ({ openapi, info, paths, components }) => {
  const all = structuredClone(components.schemas);
  // Without a name of its schema, each language would draw one.
  all.Event = all.EventPage.properties.events.items;
  all.EventPage.properties.events.items = { $ref: `${REFERENCE}Event` };
  delete all.Refusal.properties.offer;
  // A list in the types would refuse the code that a shop has in a variable.
  delete all.Currency.enum;
  const kept = {};
  for (const [path, item] of Object.entries(paths)) {
    for (const [method, { tags, operationId, summary, parameters = [], requestBody, responses }] of Object.entries(item)) {
      if (!CHAPTERS.includes(tags[0])) continue;
      const successes = Object.entries(responses).filter(([status]) => status < 300);
      const described = successes.map(([status, { description, content }]) => [status, { description, content }]);
      kept[path] ??= {};
      kept[path][method] = { operationId, summary, parameters, requestBody, responses: Object.fromEntries(described) };
    }
  }
  const schemas = { Refusal: all.Refusal, WebhookTest: all.WebhookTest };
  const add = (value) => {
    if (typeof value !== 'object' || value === null) return;
    const name = value.$ref?.slice(REFERENCE.length);
    if (name && !(name in schemas)) {
      schemas[name] = all[name];
      add(all[name]);
    }
    Object.values(value).forEach(add);
  };
  add(kept);
  add(schemas);
  const sorted = Object.entries(schemas).sort(([left], [right]) => (left < right ? -1 : 1));
  return { openapi, info: { title: info.title, version: '1' }, paths: kept, components: { schemas: Object.fromEntries(sorted) } };
};

const HEADER = "Generated from the proxy's /openapi.json.";

const typescriptTypes = async (store) => {
  // Without this, a member of a request that has a default would be required.
  const nodes = await openapiTypescript(store, { defaultNonNullable: false });
  // The library has its own methods for the paths.
  const used = nodes.filter(({ name }) => ['components', 'operations'].includes(name?.text));
  return `// ${HEADER}\n\n${astToString(used)}`;
};

const pythonTypes = (store, python) => {
  const options = ['--input-file-type', 'openapi', '--output-model-type', 'typing.TypedDict', '--target-python-version', '3.9'];
  const style = ['--enum-field-as-literal', 'all', '--use-double-quotes', '--use-schema-description'];
  const header = ['--custom-file-header', `# ${HEADER}`];
  writeFileSync('store.json', JSON.stringify(store));
  const files = ['--input', 'store.json', '--output', 'python.py'];
  execFileSync(python, ['-m', 'datamodel_code_generator', ...options, ...style, ...header, ...files], { stdio: 'ignore' });
  return readFileSync('python.py', 'utf8');
};

const [python, packages, mode] = process.argv.slice(2);
const description = JSON.parse(readFileSync(0, 'utf8'));
const store = forStores(description);
const generated = {
  'node/types.d.ts': await typescriptTypes(store),
  'python/src/florin_server/types.py': pythonTypes(store, python),
  'php/src/Types.php': phpTypes(store.components.schemas, HEADER),
};
for (const [name, text] of Object.entries(generated)) {
  const file = join(packages, name);
  if (mode === 'write') writeFileSync(file, text);
  else if (readFileSync(file, 'utf8') !== text) {
    console.error(`${name} differs from the description of the proxy: write it with INSTA_UPDATE=always`);
    process.exitCode = 1;
  }
}
for (const name of ['node/package.json', 'python/pyproject.toml']) {
  if (!readFileSync(join(packages, name), 'utf8').includes(`"${description.info.version}"`)) {
    console.error(`${name} has another version than the proxy`);
    process.exitCode = 1;
  }
}
