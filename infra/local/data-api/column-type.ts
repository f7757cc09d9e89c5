import type { FieldPacket } from 'mysql2';

/** What a column's values become. */
export type FieldKind = 'boolean' | 'long' | 'double' | 'decimal' | 'string' | 'blob' | 'unsupported';

export interface ColumnType {
  readonly kind: FieldKind;
  /** As `columnMetadata` shows it. */
  readonly typeName: string;
  /** The number of java.sql.Types: the API's documentation speaks of JDBC types. */
  readonly jdbcType: number;
}

/** Bits of a column's flags in the MySQL protocol. */
export const FLAG = { notNull: 1, unsigned: 32, binary: 128, enumeration: 256, autoIncrement: 512, set: 2048 } as const;

/** Types of the MySQL protocol. */
export const TYPE = {
  decimal: 0,
  tiny: 1,
  short: 2,
  long: 3,
  float: 4,
  double: 5,
  null: 6,
  timestamp: 7,
  longlong: 8,
  int24: 9,
  date: 10,
  time: 11,
  datetime: 12,
  year: 13,
  newDate: 14,
  varchar: 15,
  bit: 16,
  vector: 242,
  json: 245,
  newDecimal: 246,
  tinyBlob: 249,
  mediumBlob: 250,
  longBlob: 251,
  blob: 252,
  varString: 253,
  string: 254,
  geometry: 255,
} as const;

const BINARY_CHARSET = 63;
/** Bytes of a character, at most, in what the server sends: connections are opened with utf8mb4. */
export const CHARACTER_BYTES = 4;

const JDBC = {
  bit: -7,
  tinyint: -6,
  bigint: -5,
  longvarbinary: -4,
  varbinary: -3,
  binary: -2,
  longvarchar: -1,
  none: 0,
  char: 1,
  decimal: 3,
  integer: 4,
  smallint: 5,
  real: 7,
  double: 8,
  varchar: 12,
  date: 91,
  time: 92,
  timestamp: 93,
  other: 1111,
} as const;

const INTEGERS: Readonly<Record<number, readonly [name: string, jdbcType: number]>> = {
  [TYPE.tiny]: ['TINYINT', JDBC.tinyint],
  [TYPE.short]: ['SMALLINT', JDBC.smallint],
  [TYPE.int24]: ['MEDIUMINT', JDBC.integer],
  [TYPE.long]: ['INT', JDBC.integer],
  [TYPE.longlong]: ['BIGINT', JDBC.bigint],
};

const FIXED: Readonly<Record<number, ColumnType>> = {
  [TYPE.float]: { kind: 'double', typeName: 'FLOAT', jdbcType: JDBC.real },
  [TYPE.double]: { kind: 'double', typeName: 'DOUBLE', jdbcType: JDBC.double },
  [TYPE.decimal]: { kind: 'decimal', typeName: 'DECIMAL', jdbcType: JDBC.decimal },
  [TYPE.newDecimal]: { kind: 'decimal', typeName: 'DECIMAL', jdbcType: JDBC.decimal },
  [TYPE.date]: { kind: 'string', typeName: 'DATE', jdbcType: JDBC.date },
  [TYPE.newDate]: { kind: 'string', typeName: 'DATE', jdbcType: JDBC.date },
  [TYPE.time]: { kind: 'string', typeName: 'TIME', jdbcType: JDBC.time },
  [TYPE.datetime]: { kind: 'string', typeName: 'DATETIME', jdbcType: JDBC.timestamp },
  [TYPE.timestamp]: { kind: 'string', typeName: 'TIMESTAMP', jdbcType: JDBC.timestamp },
  [TYPE.year]: { kind: 'string', typeName: 'YEAR', jdbcType: JDBC.date },
  [TYPE.null]: { kind: 'string', typeName: 'NULL', jdbcType: JDBC.none },
  [TYPE.json]: { kind: 'string', typeName: 'JSON', jdbcType: JDBC.longvarchar },
  [TYPE.geometry]: { kind: 'unsupported', typeName: 'GEOMETRY', jdbcType: JDBC.other },
  [TYPE.vector]: { kind: 'unsupported', typeName: 'VECTOR', jdbcType: JDBC.other },
};

/** What the protocol says of a result's column; MariaDB tells its own types, JSON among them, in an extension of it. */
export function columnTypeOf(column: FieldPacket): ColumnType {
  const { columnType = TYPE.varString, columnLength = 0 } = column;
  const flags = Number(column.flags);
  if (column.extendedFormat === 'json') return { kind: 'string', typeName: 'JSON', jdbcType: JDBC.longvarchar };
  const integer = INTEGERS[columnType];
  if (integer) {
    const isUnsigned = (flags & FLAG.unsigned) !== 0;
    if (columnType === TYPE.tiny && columnLength === 1 && !isUnsigned)
      return { kind: 'boolean', typeName: 'TINYINT', jdbcType: JDBC.bit };
    return { kind: 'long', typeName: isUnsigned ? `${integer[0]} UNSIGNED` : integer[0], jdbcType: integer[1] };
  }
  if (columnType === TYPE.bit)
    return columnLength === 1
      ? { kind: 'boolean', typeName: 'BIT', jdbcType: JDBC.bit }
      : { kind: 'blob', typeName: 'BIT', jdbcType: JDBC.varbinary };
  const fixed = FIXED[columnType];
  if (fixed) return fixed;
  if ((flags & FLAG.enumeration) !== 0) return { kind: 'string', typeName: 'ENUM', jdbcType: JDBC.char };
  if ((flags & FLAG.set) !== 0) return { kind: 'string', typeName: 'SET', jdbcType: JDBC.char };
  if (column.extendedTypeName !== undefined)
    return { kind: 'string', typeName: column.extendedTypeName.toUpperCase(), jdbcType: JDBC.char };
  return column.characterSet === BINARY_CHARSET
    ? binaryType(columnType, columnLength)
    : textType(columnType, columnLength / CHARACTER_BYTES);
}

function binaryType(columnType: number, length: number): ColumnType {
  if (columnType === TYPE.string) return { kind: 'blob', typeName: 'BINARY', jdbcType: JDBC.binary };
  if (columnType === TYPE.varString || columnType === TYPE.varchar)
    return { kind: 'blob', typeName: 'VARBINARY', jdbcType: JDBC.varbinary };
  return { kind: 'blob', typeName: `${sizeOf(length)}BLOB`, jdbcType: JDBC.longvarbinary };
}

function textType(columnType: number, length: number): ColumnType {
  if (columnType === TYPE.string) return { kind: 'string', typeName: 'CHAR', jdbcType: JDBC.char };
  if (columnType === TYPE.varString || columnType === TYPE.varchar)
    return { kind: 'string', typeName: 'VARCHAR', jdbcType: JDBC.varchar };
  return { kind: 'string', typeName: `${sizeOf(length)}TEXT`, jdbcType: JDBC.longvarchar };
}

function sizeOf(length: number): string {
  if (length <= 0xff) return 'TINY';
  if (length <= 0xffff) return '';
  return length <= 0xff_ffff ? 'MEDIUM' : 'LONG';
}
