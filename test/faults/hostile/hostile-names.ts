import { words } from './words.ts';

/** Valid column names that some component could take for something else. */
export const COLUMN_NAMES: readonly string[] = [
  ...words("'cell' entity.cell'"),
  "x' for key 'cell'",
  "x' for key 'entity.cell'",
  "x' for key 'PRIMARY'",
  "Duplicate entry 'x' for key 'entity.PRIMARY'",
  "'; DROP TABLE entity; --",
  "' OR '1'='1",
  ...words('` ``'),
  '`; --',
  ...words('"', "'' \\' \\ \\\\ \\0 a\0b \n \r\n \t % _ ? ?? :name @@version"),
  '/*!50000 x */',
  ...words('../.. . .. / a/b %2e%2e %00 # & = +'),
  ' ',
  'BASE ',
  ' BASE',
  ...words('base BÁSE BA\u0301SE __proto__ constructor toString null undefined NaN 0 -1 1e5 *'),
  '[object Object]',
  ...words(
    '😀 \u202eESAB \ufeff \ufffd \uffff \u{10ffff}',
    'a'.repeat(255),
    'é'.repeat(127),
    '😀'.repeat(63),
    `a${'\0'.repeat(254)}`,
    "'".repeat(255),
    '\\'.repeat(255),
  ),
];

/** Invalid values in place of a column name. */
export const NO_COLUMN_NAMES: readonly string[] = words(
  '""',
  `"${'a'.repeat(256)}"`,
  `"${'é'.repeat(128)}"`,
  '"\\u0000" "\\u0001a" 1 null true ["BASE"] {"toString":"BASE"}',
);

export const NO_ROW_KEYS: readonly string[] = words(
  "17 null .. %2e%2e %252e%252e ..%2f..%2fetc%2fpasswd %00 %C0%AF %ff __proto__ '%20OR%20''='",
  '6e3a0f9c4d2b4a869a410c7ce1b6a2f0 6e3a0f9c-4d2b-4a86-9a41-0c7ce1b6a2f 6e3a0f9c-4d2b-4a86-9a41-0c7ce1b6a2f00',
  '%7B6e3a0f9c-4d2b-4a86-9a41-0c7ce1b6a2f0%7D 6e3a0f9c-4d2b-4a86-9a41-0c7ce1b6a2f0%0a',
  '%206e3a0f9c-4d2b-4a86-9a41-0c7ce1b6a2f0 gggggggg-4d2b-4a86-9a41-0c7ce1b6a2f0',
  '%EF%BC%96e3a0f9c-4d2b-4a86-9a41-0c7ce1b6a2f0 urn:uuid:6e3a0f9c-4d2b-4a86-9a41-0c7ce1b6a2f0',
);

/** Invalid counts, as parts of a path or values of a parameter. */
export const NO_COUNTS: readonly string[] = words(
  '-1 -0 +1 1.5 1e3 01 0x1 1_000 9007199254740992 18446744073709551616',
  '9'.repeat(400),
  "NaN Infinity null true %D9%A1 1%00 1%20 %201 1;2 1,2 1' %ef%bc%91 []",
);

/** Names and values with a meaning elsewhere; encoded. */
export const NO_PARAMETERS: readonly string[] = words(
  '__proto__=1 constructor=1 limit[]=1 limit=1&limit=2 LIMIT=1 %00=1 =1 && = % %f %ff=1 a=%C0%AF',
  'read[gt]=writer read=writer%00 order=asc;desc upsert=true %6cimit=0 limit=%31%65%33',
  `${'a'.repeat(4000)}=1`,
  'after cursor ? x=<script>',
);
