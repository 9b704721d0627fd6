package sqldump

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
)

// read returns the rows of the table t as texts.
func read(dump string) (all []string, err error) {
	r := NewReader(strings.NewReader(dump), func(table string) bool { return table == "t" })
	for {
		row, err := r.Next()
		if errors.Is(err, io.EOF) {
			return all, nil
		}
		if err != nil {
			return all, err
		}
		text := fmt.Sprint(row.Line)
		for _, column := range []string{"a", "B", "none"} {
			if c := row.Cell(column); c.Valid {
				text += fmt.Sprintf(" %q", c.Bytes())
			} else {
				text += " NULL"
			}
		}
		all = append(all, text)
	}
}

func TestRows(t *testing.T) {
	const mysql, create = "-- MySQL dump 10\n", "CREATE TABLE IF NOT EXISTS `db`.`t` (`a` varchar(10) DEFAULT ',', b int, PRIMARY KEY (`a`), KEY x (b)) ENGINE=InnoDB;\n"
	for _, tt := range []struct {
		name, dump string
		want       []string
	}{
		{"MySQL", mysql + create + "INSERT INTO `t` VALUES ('it\\'s\\n''x''',1),\n(NULL,-2.5);", []string{`3 "it's\n'x'" "1" NULL`, `4 NULL "-2.5" NULL`}},
		{"bytes", mysql + "insert ignore into t (a,b) values (0x00ff,X'4142'),(_binary 'a\\0b',b'1');", []string{`2 "\x00\xff" "AB" NULL`, `2 "a\x00b" "1" NULL`}},
		{"other columns", "REPLACE INTO `t` (`c`,`b`) VALUES ('1','2');", []string{`1 NULL "2" NULL`}},
		{"duplicates", create + "INSERT INTO t VALUES (1,2) ON DUPLICATE KEY UPDATE b=(3),a=';';INSERT INTO t VALUES (4,5);", []string{`2 "1" "2" NULL`, `2 "4" "5" NULL`}},
		{"comments", "/* ; ' */ # x'\n-- y'\nINSERT INTO t /* a */ (a) -- '\nVALUES (1);", []string{`4 "1" NULL NULL`}},
		{"another table", "INSERT INTO u VALUES ('a;', (1));INSERT INTO t (a) VALUES (1)", nil},
		{"PostgreSQL", "INSERT INTO public.\"t\" (a, b) OVERRIDING SYSTEM VALUE VALUES ('\\x4142'::bytea, E'x\\ny'), ('c:\\n', true);", []string{`1 "AB" "x\ny" NULL`, `1 "c:\\n" "true" NULL`}},
		{"COPY", "COPY public.t (a, b) FROM stdin;\nx\\ty\\\\\t\\N\n\\\\x4142\t\n\\.\nCOPY u (a) FROM stdin;\n1\n\\.\nCOPY t (a) FROM stdin WITH (FREEZE);\n2\n\\.\n", []string{`2 "x\ty\\" NULL NULL`, `3 "AB" "" NULL`, `9 "2" NULL NULL`}},
		{"functions", "\\connect x'\nCREATE FUNCTION f() AS $x$ ' INSERT INTO t (a) VALUES (1); $x$;\nINSERT INTO t (a) VALUES (2);", []string{`3 "2" NULL NULL`}},
		{"CRLF", "COPY t (a) FROM stdin;\r\n1\r\n\\.\r\n", []string{`2 "1" NULL NULL`}},
	} {
		got, err := read(tt.dump)
		if tt.name == "another table" {
			if err == nil || len(got) != 1 || !strings.Contains(err.Error(), "ends within a statement") {
				t.Errorf("got %v, %v", got, err)
			}
			continue
		}
		if err != nil || strings.Join(got, "\n") != strings.Join(tt.want, "\n") {
			t.Errorf("%s: %v\n got %v\nwant %v", tt.name, err, got, tt.want)
		}
	}
}

func TestInvalidDumps(t *testing.T) {
	for dump, want := range map[string]string{
		"INSERT INTO t VALUES (1);":                                       "line 1, column 22: the columns are unknown",
		"INSERT INTO t (a) VALUES (1":                                     "line 1, column 27: the dump ends within a statement",
		"INSERT INTO t (a)\nVALUES ('x":                                   "line 2, column 10: the dump ends within a statement",
		"INSERT INTO t (a) VALUES 1;":                                     "line 1, column 26: want a row",
		"INSERT INTO t (a) SELECT 1;":                                     "line 1, column 19: want VALUES",
		"INSERT INTO t (a) VALUES (0xg);":                                 "line 1, column 27: invalid hexadecimal digits",
		"INSERT INTO t (a) VALUES (now());":                               "line 1, column 30: want a value",
		"INSERT INTO t (a;":                                               "line 1, column 17: want a comma",
		"INSERT INTO (a":                                                  "line 1, column 13: want the name of a table",
		"COPY t (a) FROM stdin;\n1\n":                                     "line 3, column 1: the dump ends without",
		"COPY t (a) FROM stdin;\n1\t2\n\\.\n":                             "line 2, column 1: the row has 2 columns, want 1",
		"COPY t (a) FROM stdin;\n" + strings.Repeat("x", maxRow+1):        "line 2, column 1: the row is too long",
		"INSERT INTO t (a) VALUES ('" + strings.Repeat("x", maxCell+1):    "line 1, column 27: the text is too long",
		"INSERT INTO t (a) VALUES (" + strings.Repeat("1,", maxColumns+1): "line 1, column 26: the row is too long",
		"INSERT INTO t (a) VALUES (" + strings.Repeat("1", maxCell+1):     "line 1, column 27: the word is too long",
		"/* x":         "line 1, column 4: the dump ends within",
		"SELECT $a$ x": "line 1, column 12: the dump ends within",
	} {
		if got, err := read(dump); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%.60s: got %v, %v, want %s", dump, got, err, want)
		}
	}
}

// FuzzReader checks that any dump ends, with positions that exist.
func FuzzReader(f *testing.F) {
	f.Add("CREATE TABLE t (a int);\nINSERT INTO t VALUES ('x', 0xff, NULL), (-1, E'\\n', 'a'::bytea);")
	f.Add("COPY t (a, b) FROM stdin;\nx\\ty\t\\N\n\\.\n")
	f.Add("-- MySQL dump\nINSERT INTO `t` (`a`) VALUES ('it\\'s') ON DUPLICATE KEY UPDATE a=1;")
	f.Add("$x$ ; $x$ /* */ # \n\\connect\n")
	f.Fuzz(func(t *testing.T, dump string) {
		_, err := read(dump)
		var bad *Error
		if err != nil && (!errors.As(err, &bad) || bad.Line < 1 || bad.Column < 0 || bad.Line > strings.Count(dump, "\n")+1) {
			t.Fatalf("%q: %v", dump, err)
		}
	})
}
