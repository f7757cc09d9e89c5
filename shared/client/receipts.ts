import { createPublicKey, hash, sign, verify, type KeyObject } from 'node:crypto';
import { canonicalForm } from '../body/canonical-form.ts';
import type { ReceiptKey, ReceiptSignature } from '../contract/subject-operations.ts';

/** A record as it was answered. */
export interface Receipt {
  readonly signature?: ReceiptSignature | null;
}

/** A signature is of nothing else that somebody may have signed. */
const WHAT = 'schemaless receipt 1';
const ID_DIGITS = 32;

/** A record with its signature, in the place of what it had. */
export function signReceipt<R extends Receipt>(record: R, privateKey: KeyObject, keyId: string): R {
  const value = sign(null, signedBytes(record), privateKey).toString('base64url');
  return { ...record, signature: { algorithm: 'Ed25519', key_id: keyId, value } };
}

/** `changed`: it is not what was signed. `other_key`: another key signed it, or may have. */
type ReceiptVerdict = 'right' | 'changed' | 'unsigned' | 'other_key';

export function verifyReceipt(record: Receipt, key: ReceiptKey): ReceiptVerdict {
  const { signature } = record;
  if (!signature) return 'unsigned';
  if (signature.algorithm !== 'Ed25519') return 'changed';
  if (signature.key_id !== key.key_id) return 'other_key';
  const bytes = Buffer.from(String(signature.value), 'base64url');
  // What decodes and is written otherwise was changed.
  const isAsWritten = bytes.toString('base64url') === signature.value;
  return isAsWritten && verify(null, signedBytes(record), createPublicKey(key.public_key), bytes) ? 'right' : 'changed';
}

/** The public half as it is shown. */
export function receiptKey(publicKey: KeyObject): ReceiptKey {
  const key_id = hash('sha256', publicKey.export({ type: 'spki', format: 'der' }), 'hex').slice(0, ID_DIGITS);
  return { algorithm: 'Ed25519', key_id, public_key: String(publicKey.export({ type: 'spki', format: 'pem' })) };
}

function signedBytes({ signature: _signature, ...record }: Receipt): Buffer {
  return Buffer.from(`${WHAT}\n${canonicalForm(record)}`);
}
