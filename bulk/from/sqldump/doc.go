// Package sqldump reads the rows of tables from the dumps of mysqldump and pg_dump: statements
// INSERT and REPLACE, and the data of COPY.
//
// It reads a stream, with memory that depends on the longest row and not on the length of the dump.
// Of statements without rows it reads only CREATE TABLE, because some statements with rows do not
// name their columns. It skips all others.
package sqldump
