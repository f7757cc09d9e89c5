import { describe, expect, it } from 'vitest';
import { bind, isSingleStatement, leavesSessionState, readSqlText } from '../../../../infra/local/data-api/sql-text.ts';

const one = (sql: string): string => bind(readSqlText(sql), new Map([['a', 7n]]));

describe('named parameters', () => {
  it.each([
    ['SELECT :a', 'SELECT 7'],
    ['SELECT :a,:a+:a', 'SELECT 7,7+7'],
    [`SELECT ':a', ":a", \`:a\`, :a`, `SELECT ':a', ":a", \`:a\`, 7`],
    [`SELECT 'it''s :a', 'it\\'s :a', :a`, `SELECT 'it''s :a', 'it\\'s :a', 7`],
    ['SELECT `odd``name:a`, :a', 'SELECT `odd``name:a`, 7'],
    ['SELECT :a -- :a\n, :a', 'SELECT 7 -- :a\n, 7'],
    ['SELECT :a # :a\n, :a', 'SELECT 7 # :a\n, 7'],
    ['SELECT 5--:a', 'SELECT 5--7'],
    ['SELECT /* :a */ :a /* open :a', 'SELECT /* :a */ 7 /* open :a'],
    ['SELECT ::a, :a', 'SELECT ::a, 7'],
    ['SELECT @x := :a', 'SELECT @x := 7'],
    ['SELECT @x:=:a', 'SELECT @x:=7'],
    ["SELECT 'what?', :a", "SELECT 'what?', 7"],
    ["SELECT '10:30:00'", "SELECT '10:30:00'"],
    ["SELECT 'open :a", "SELECT 'open :a"],
  ])('%s', (sql, bound) => expect(one(sql)).toBe(bound));

  it('may be numbers, and stand for text that looks like parameters', () => {
    const parameters = new Map(['1', '2'].map((name) => [name, ":2 ? '"]));
    expect(bind(readSqlText('SELECT :1, :2'), parameters)).toBe(String.raw`SELECT ':2 ? \'', ':2 ? \''`);
    const numbered = new Map(['p_1', 'p_10'].map((name) => [name, name]));
    expect(bind(readSqlText('SELECT :p_10, :p_1'), numbered)).toBe(`SELECT 'p_10', 'p_1'`);
  });

  it('must be there when the statement names them; others are left out', () => {
    expect(() => one('SELECT :b')).toThrow('Cannot find parameter: b');
    expect(one('SELECT 1')).toBe('SELECT 1');
  });
});

describe('one statement', () => {
  it.each([
    ['SELECT 1;', true],
    ['SELECT 1; -- done\n ;', true],
    ['SELECT \';\', ";", `;` /* ; */ # ;', true],
    ['SELECT 1; SELECT 2', false],
    ["SELECT 'a'; DROP TABLE t", false],
    ['CREATE TABLE t (a INT); SELECT 1', false],
  ])('%s: %s', (sql, isSingle) => expect(isSingleStatement(readSqlText(sql))).toBe(isSingle));
});

it('knows which statements leave something in their session', () => {
  for (const sql of [
    'SET @a = 1',
    ' /* x */ use other',
    'SELECT @a := 1',
    'CREATE TEMPORARY TABLE t (a INT)',
    'SELECT 1 INTO @a',
    "SELECT GET_LOCK('a', 1)",
    'BEGIN',
  ])
    expect(leavesSessionState(readSqlText(sql)), sql).toBe(true);
  for (const sql of [
    'SELECT 1',
    'UPDATE t SET a = 1',
    "INSERT INTO t VALUES ('SET @a := 1')",
    'INSERT INTO users VALUES (1)',
  ])
    expect(leavesSessionState(readSqlText(sql)), sql).toBe(false);
});
