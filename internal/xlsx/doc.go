// Package xlsx reads the cells of workbooks (Office Open XML, ISO/IEC 29500-1), which spreadsheet
// programs save as .xlsx.
//
// A workbook is a ZIP archive of XML files. The package reads a sheet row by row. Only the shared
// strings and the formats of numbers are held in memory. A file is untrusted: the size of its
// directory, of its parts, of a row and of the shared strings is limited, see the constants. If a
// file contradicts itself, the result is an error. Cells are never left out in silence.
//
// [Decision 57] says why the package uses no library.
//
// [Decision 57]: ../../docs/decisions/0057-workbooks.md
package xlsx
