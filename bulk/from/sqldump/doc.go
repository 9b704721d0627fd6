// Package sqldump reads the rows of tables from the dumps of mysqldump and pg_dump: statements INSERT
// and REPLACE, and the data of COPY.
//
// It reads a stream with a memory that depends on the longest row, not on the length of the dump. All
// statements that have no rows are skipped, except that CREATE TABLE gives the columns for statements
// that do not name them.
package sqldump
