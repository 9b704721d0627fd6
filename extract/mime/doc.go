// Package mime reads messages and mailboxes part by part. For each octet of a header field or a
// text, it records the position in the file from which the octet was decoded. Findings can
// therefore be located in the original file.
//
// The package decodes transfer encodings, charsets, encoded words, and flowed and folded lines. It
// reads as much as possible of malformed messages, and reports their errors.
package mime
