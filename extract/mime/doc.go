// Package mime reads messages and mailboxes part by part, and keeps for each
// octet of a header field or text the octets of the file that it comes from.
//
// It decodes transfer encodings, charsets, encoded words, and flowed and folded
// lines. It reads malformed messages as far as possible and reports what is
// wrong in them. It does not know what is in the text.
package mime
