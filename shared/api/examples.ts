/** One trip's cells, for the examples of the document. */
export const ADDRESS = { row_key: '6e3a0f9c-4d2b-4a86-9a41-0c7ce1b6a2f0', column_name: 'BASE', ref_key: 1 } as const;
export const BODY = {
  driver_partner_uuid: '7a1d5b0e-1f0a-4d6e-8a53-3c1f5f2b9d10',
  city: 'Lisbon',
  fare: { total: 1240, currency: 'EUR' },
} as const;
export const CELL = {
  ...ADDRESS,
  body: BODY,
  added_id: 17,
  shard: 233,
  created_at: '2026-01-31T08:00:00.123456Z',
} as const;
export const SERVED = { served_by: 'writer', stale: false } as const;
/** Any. */
export const DIGEST = '5f70bf18a086007016e948b04aed3b82103a36bea41755b6cddfaf10ace3c6ef';
