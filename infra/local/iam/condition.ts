import { pattern } from './pattern.ts';

export const LEADING_KEYS = 'dynamodb:LeadingKeys';
export const SOURCE_ARN = 'aws:SourceArn';
/** The principal in a function's permission for API Gateway. */
export const API_GATEWAY = 'apigateway.amazonaws.com';

export type Comparison = (context: Readonly<Record<string, readonly string[]>>) => boolean;

/** Compiled once for each wanted value. */
const OPERATORS: Readonly<Record<string, (wanted: string) => (got: string) => boolean>> = {
  StringEquals: (wanted) => (got) => got === wanted,
  StringLike: matching,
  ArnEquals: matching,
  ArnLike: matching,
  Bool: (wanted) => (got) => got.toLowerCase() === wanted.toLowerCase(),
};

function matching(wanted: string): (got: string) => boolean {
  const form = pattern(wanted, 'u');
  return (got) => form.test(got);
}

const FORM = /^(?:(ForAllValues|ForAnyValue):)?([A-Za-z]+?)(IfExists)?$/u;

/** AWS compares condition keys without case. */
const KEYS = new Map([LEADING_KEYS, SOURCE_ARN].map((key) => [key.toLowerCase(), key]));

/**
 * Compiles one condition: `ForAllValues:StringLike`, `dynamodb:LeadingKeys`, `['trigger#trips#*']`. As in AWS,
 * `ForAllValues` holds for a call without the key. Throws an Error for an unknown operator or key.
 */
export function compareWith(operator: string, written: string, wanted: readonly string[]): Comparison {
  const key = KEYS.get(written.toLowerCase());
  if (key === undefined) throw new Error(`Condition: wanted one of ${[...KEYS.values()].join(', ')}, got ${written}`);
  if (operator === 'Null') return (context) => (context[key] === undefined) === (wanted[0] === 'true');
  const [, quantifier, name = '', ifExists] = FORM.exec(operator) ?? [];
  const isNot = name.startsWith('StringNot') || name.startsWith('ArnNot');
  const compare = OPERATORS[isNot ? name.replace('Not', '') : name];
  if (compare === undefined)
    throw new Error(`Condition: wanted one of Null, ${Object.keys(OPERATORS).join(', ')}, got ${operator}`);
  const compared = wanted.map(compare);
  const fits = (got: string): boolean => compared.some((isLike) => isLike(got)) !== isNot;
  return (context) => {
    const got = context[key];
    if (quantifier === 'ForAllValues') return (got ?? []).every(fits);
    if (got === undefined) return ifExists !== undefined || isNot;
    return quantifier === 'ForAnyValue' ? got.some(fits) : got.length === 1 && got.every(fits);
  };
}
