// Package xlsx reads the cells of workbooks, which spreadsheet programs save as .xlsx (Office Open
// XML, ISO/IEC 29500-1).
//
// A workbook is a ZIP archive of XML files. The package reads a sheet row by row, and keeps only
// the shared strings and the formats of numbers in memory. Files come from strangers, so there are
// limits on the size of the directory, of parts, of rows and of the shared strings. If a file
// contradicts itself, the result is an error. No cell is ever omitted silently.
//
// [Decision 57] says why the package uses no library.
//
// [Decision 57]: ../../docs/decisions/0057-workbooks.md
package xlsx
