// Package sqldump reads rows of tables from dumps that mysqldump and pg_dump have written. The rows
// are in INSERT and REPLACE statements, and in the data of COPY statements.
//
// The package reads a dump as a stream. The memory that it uses depends on the longest row, not on
// the length of the dump. It also reads CREATE TABLE statements, because some statements with rows
// do not name the columns. It skips all other statements.
package sqldump
