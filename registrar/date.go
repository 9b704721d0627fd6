package registrar

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// doubtDate returns why a date in metadata is ambiguous or invalid. It returns "" for a date of ISO
// 8601 or W3CDTF, for two such dates separated by a slash, and for a description in words.
func doubtDate(s string) string {
	const form = "; write it as 2006-01-02"
	s = strings.TrimSpace(s)
	if _, err := time.Parse(time.DateOnly, s); err == nil { // the most frequent form
		return ""
	}
	if strings.Trim(s, "0123456789") == "" && s != "" {
		return doubtNumber(s)
	}
	day, _, _ := strings.Cut(s, " ") // the date without a time of day
	parts := strings.FieldsFunc(day, func(r rune) bool { return strings.ContainsRune("./-", r) })
	for _, p := range parts {
		if strings.Trim(p, "0123456789") != "" {
			parts = nil // not a numeric date
			break
		}
	}
	switch {
	case len(parts) == 3 && len(parts[0]) == 4 && strings.Count(day, "-") == 2:
		if _, err := time.Parse("2006-1-2", day); err != nil {
			return "no such day" + form
		}
	case len(parts) == 3 && len(parts[0]) <= 2:
		return "ambiguous date" + form
	}
	return ""
}

// Spreadsheets store a date as the number of days since 1899-12-30, which has five digits for dates
// in recent centuries.
const (
	firstSerial = 10_000
	lastSerial  = 99_999
)

func doubtNumber(s string) string {
	n, err := strconv.Atoi(s)
	switch _, day := time.Parse("20060102", s); {
	case len(s) <= 4, err == nil && len(s) == len("20060102") && day == nil:
		return ""
	case err == nil && n >= firstSerial && n <= lastSerial && s[0] != '0':
		day := time.Date(1899, 12, 30, 0, 0, 0, 0, time.UTC).AddDate(0, 0, n)
		return fmt.Sprintf("probably the number of the day %s in a spreadsheet; format the column as text or as 2006-01-02", day.Format(time.DateOnly))
	}
	return "a number, not a date; write it as 2006-01-02"
}
