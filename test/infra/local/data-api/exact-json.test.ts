import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';

type ExactJson = typeof import('../../../../infra/local/data-api/exact-json.ts');

const withRaw = JSON as { rawJSON?: unknown };
const { rawJSON } = withRaw;

describe.each(['as Node has it', 'on Node 20, which lacks it'])('numbers that JavaScript would round, %s', (where) => {
  let json: ExactJson;
  beforeAll(async () => {
    vi.resetModules();
    if (where !== 'as Node has it') delete withRaw.rawJSON;
    json = await import('../../../../infra/local/data-api/exact-json.ts');
  });
  afterAll(() => void (withRaw.rawJSON = rawJSON));

  it('keep their digits when they are read', () => {
    const text = '{"a":9007199254740993,"b":[-9223372036854775808],"c":9007199254740991,"d":1.5,"e":1e30}';
    expect(json.parseExactly(text)).toEqual({
      a: 9007199254740993n,
      b: [-9223372036854775808n],
      c: 9007199254740991,
      d: 1.5,
      e: 1e30,
    });
    expect(json.parseExactly('{"a":[1,"x"]}')).toEqual({ a: [1, 'x'] });
  });

  it('are no texts that look like them', () => {
    const text = JSON.stringify({ a: '9007199254740993', b: '"9007199254740993n', c: '\\":9007199254740993,' });
    expect(json.parseExactly(text)).toEqual(JSON.parse(text));
    expect(json.stringifyExactly(JSON.parse(text))).toBe(text);
  });

  it('keep them when they are written', () => {
    expect(json.stringifyExactly({ a: [new json.ExactNumber('-9007199254740993')], b: 'x', c: undefined })).toBe(
      '{"a":[-9007199254740993],"b":"x"}',
    );
  });

  it('are refused where the text is no JSON', () => {
    for (const text of ['', '{"a":9007199254740993', '9007199254740993,'])
      expect(() => json.parseExactly(text)).toThrow(SyntaxError);
  });
});
