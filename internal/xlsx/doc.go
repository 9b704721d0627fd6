// Package xlsx reads the cells of workbooks, which spreadsheet programs save as .xlsx (Office Open
// XML, ISO/IEC 29500-1).
//
// A workbook is a ZIP archive of XML files, which are called parts. The package reads a sheet row
// by row, and keeps only the shared strings and the number formats in memory. Workbooks come from
// untrusted sources, so there are limits on the sizes of the archive directory, parts, rows and
// shared strings. An inconsistent file is an error. The package never omits a cell silently.
//
// [Decision 57] explains why the package does not use a library.
//
// [Decision 57]: ../../docs/decisions/0057-workbooks.md
package xlsx
