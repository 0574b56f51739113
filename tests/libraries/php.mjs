/** Types of PHP: arrays with known members, as PHPStan and Psalm read them. */

const OPEN = 'array<string, mixed>';
const SCALARS = { string: 'string', integer: 'int', number: 'float', boolean: 'bool', null: 'null' };

const quoted = (value) => (typeof value === 'string' ? `'${value}'` : String(value));

const phpType = (schema, indent) => {
  if (schema.$ref) return schema.$ref.split('/').at(-1);
  if ('const' in schema) return quoted(schema.const);
  if (schema.enum) return schema.enum.map(quoted).join('|');
  const alternatives = schema.anyOf ?? schema.oneOf;
  if (alternatives) return [...new Set(alternatives.map((one) => phpType(one, indent)))].join('|');
  return [schema.type ?? []].flat().map((type) => ofType(type, schema, indent)).join('|') || 'mixed';
};

const ofType = (type, schema, indent) => {
  if (type === 'array') return `list<${phpType(schema.items ?? {}, indent)}>`;
  if (type === 'object') return schema.properties ? shape(schema, indent) : OPEN;
  return SCALARS[type];
};

const shape = ({ properties, required = [] }, indent) => {
  const inner = `${indent}  `;
  const members = Object.entries(properties).map(([name, schema]) => {
    const mark = required.includes(name) ? '' : '?';
    return `${inner}${name}${mark}: ${phpType(schema, inner)},`;
  });
  return `array{\n${members.join('\n')}\n${indent}}`;
};

/** Returns the file that declares a type for each schema. */
export const phpTypes = (schemas, header) => {
  const types = Object.entries(schemas).map(([name, schema]) => ` * @phpstan-type ${name} ${phpType(schema, ' * ')}`);
  return `<?php

declare(strict_types=1);

namespace Florin;

/**
 * ${header}
 *
${types.join('\n')}
 */
interface Types
{
}
`;
};
