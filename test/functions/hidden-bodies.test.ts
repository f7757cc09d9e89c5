import { expect, it } from 'vitest';
import { writeJson } from '../../shared/body/json.ts';
import { LIMITS, type Json } from '../../shared/cell.ts';
import { PackedBody } from '../../shared/body/packed-body.ts';
import { packedListOf, writeMessagePack } from '../../shared/body/write-message-pack.ts';
import { withoutBodies } from '../../functions/http/hidden-bodies.ts';

const CELL = { row_key: '6e3a0f9c-4d2b-4a86-9a41-0c7ce1b6a2f1', column_name: 'BASE', ref_key: 1, body: { a: 1 } };
const HIDDEN = { ...CELL, body: null, hidden: true };
const hide = (body: unknown): unknown => withoutBodies({ status: 200, body }).body;

it('leaves out bodies, wherever cells are in an answer', () => {
  expect(hide(CELL)).toEqual(HIDDEN);
  expect(hide({ cells: [CELL, null], next: null })).toEqual({ cells: [HIDDEN, null], next: null });
  expect(hide({ logs: [{ shard: 1, cells: [CELL], next: 2 }] })).toEqual({
    logs: [{ shard: 1, cells: [HIDDEN], next: 2 }],
  });
  // Answers to several requests in one have answers as bodies.
  expect(hide({ answers: [{ status: 200, body: CELL }] })).toEqual({ answers: [{ status: 200, body: HIDDEN }] });
});

it('leaves them out of answers that are written already, in MessagePack', () => {
  const written = [writeMessagePack({ status: 200, body: CELL }), undefined];
  expect(hide(packedListOf('answers', written))).toEqual({ answers: [{ status: 200, body: HIDDEN }, null] });
  expect(hide({ ...CELL, body: new PackedBody(writeMessagePack({ a: 1 }) ?? Buffer.of()) })).toEqual(HIDDEN);
});

it('leaves them out however deep they are', () => {
  let body: Json = 1;
  for (let depth = 0; depth < LIMITS.bodyDepth; depth += 1) body = [body];
  const json = writeJson({ answers: [{ status: 200, body: { ...CELL, body } }] });
  expect(withoutBodies({ status: 200, json }).body).toEqual({ answers: [{ status: 200, body: HIDDEN }] });
});

it('says nothing is hidden of a body that is erased', () => {
  expect(hide({ ...CELL, body: null, erased: true })).toEqual({ ...CELL, body: null, erased: true });
});

it('leaves out the fields of index entries, and the text of messages', () => {
  expect(hide({ entries: [{ row_key: CELL.row_key, fields: { city: 'x' } }] })).toEqual({
    entries: [{ row_key: CELL.row_key, fields: { city: null }, hidden: true }],
  });
  expect(hide({ malformed: [{ message_id: 'm', body: 'text' }] })).toEqual({
    malformed: [{ message_id: 'm', body: null, hidden: true }],
  });
});

it('leaves what says nothing of cells', () => {
  const health = { status: 'ok', groups: [{ group: 'group-1' }] };
  expect(hide(health)).toEqual(health);
});
