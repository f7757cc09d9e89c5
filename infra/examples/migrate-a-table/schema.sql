-- The table as it was found: one row an order, changed in place. `version` is what the move needs of it: it goes up with
-- every change, so that each state of an order has a number that the table and the store agree on.
CREATE TABLE IF NOT EXISTS orders (
  id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY,
  customer BIGINT UNSIGNED NOT NULL,
  state VARCHAR(16) NOT NULL,
  total_cents INT UNSIGNED NOT NULL,
  version INT UNSIGNED NOT NULL DEFAULT 1,
  KEY customer (customer)
) ENGINE=InnoDB;

-- How far the move is, for every process of the application.
CREATE TABLE IF NOT EXISTS orders_move (
  one TINYINT NOT NULL PRIMARY KEY DEFAULT 1,
  phase VARCHAR(16) NOT NULL DEFAULT 'table',
  filled_to BIGINT UNSIGNED NOT NULL DEFAULT 0,
  last_id BIGINT UNSIGNED NOT NULL DEFAULT 0,
  CHECK (one = 1)
) ENGINE=InnoDB;
INSERT IGNORE INTO orders_move (one) VALUES (1);
