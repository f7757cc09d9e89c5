import { pattern } from './pattern.ts';

export const LEADING_KEYS = 'dynamodb:LeadingKeys';
export const SOURCE_ARN = 'aws:SourceArn';
/** The principal that functions name where they let API Gateway call them. */
export const API_GATEWAY = 'apigateway.amazonaws.com';

/** Whether a condition of a statement holds, by the condition keys of a call. */
export type Comparison = (context: Readonly<Record<string, readonly string[]>>) => boolean;

/** Each is made for what is wanted, once, and then told what came. */
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

/** Condition keys that calls have here, in lower case: AWS compares them so. */
const KEYS = new Map([LEADING_KEYS, SOURCE_ARN].map((key) => [key.toLowerCase(), key]));

/**
 * One condition: `ForAllValues:StringLike`, `dynamodb:LeadingKeys`, `['trigger#trips#*']`.
 *
 * `ForAllValues` holds where the call has no value of the key, as a `Scan` has no leading key: that is AWS's own way.
 *
 * @throws Error for an operator or a key that is not known here
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
