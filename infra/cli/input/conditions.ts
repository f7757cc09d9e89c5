import type { Condition, Operator } from '../../../shared/api/condition.ts';
import { badUsage } from '../command-error.ts';

const SIGNS: Readonly<Record<string, Operator>> = {
  '=': 'eq',
  '!=': 'ne',
  '<': 'lt',
  '<=': 'lte',
  '>': 'gt',
  '>=': 'gte',
};
const BRACKETED: readonly string[] = ['ne', 'lt', 'lte', 'gt', 'gte', 'in'];
const WANTED = 'FIELD=VALUE, or != < <= > >= in the place of =, or FIELD[in]=VALUE as often as there are values';

/** Reads conditions: `city=Lisbon`, `fare.total>=10`, `city[in]=Lisbon city[in]=Porto`. Throws a CommandError. */
export function readConditions(texts: readonly string[]): readonly Condition[] {
  const conditions: { field: string; operator: Operator; values: string[] }[] = [];
  for (const text of texts) {
    const { field, operator, value } = readCondition(text);
    const same = operator === 'in' && conditions.find((one) => one.field === field && one.operator === 'in');
    if (same) same.values.push(value);
    else conditions.push({ field, operator, values: [value] });
  }
  return conditions;
}

function readCondition(text: string): { readonly field: string; readonly operator: Operator; readonly value: string } {
  const [, field = '', bracketed, sign = '', value = ''] =
    /^([^=!<>[\]]+)(?:\[([a-z]*)\])?(!=|<=|>=|=|<|>)(.*)$/su.exec(text) ?? [];
  const operator = bracketed === undefined ? SIGNS[sign] : (bracketed as Operator);
  const isKnown = bracketed === undefined || (BRACKETED.includes(bracketed) && sign === '=');
  if (field === '' || operator === undefined || !isKnown)
    throw badUsage('condition', WANTED, JSON.stringify(text.slice(0, 80)), "Quote it for the shell: 'fare.total>=10'");
  return { field, operator, value };
}
