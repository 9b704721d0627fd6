// Package sqldump reads the rows of tables from the dumps of mysqldump and pg_dump: statements
// INSERT and REPLACE, and the data of COPY.
//
// It reads a stream, with memory that depends on the longest row and not on the length of the dump.
// It skips all statements that have no rows, except that CREATE TABLE gives the columns for
// statements that do not name them.
package sqldump
