package dialect

import "testing"

func TestCutInflection(t *testing.T) {
	for target, want := range map[string]struct {
		path       string
		inflection Inflection
	}{
		"/ark:12345/x":             {"/ark:12345/x", NoInflection},
		"/ark:12345/x?":            {"/ark:12345/x", Brief},
		"/ark:12345/x??":           {"/ark:12345/x", Full},
		"/ark:12345/x?info":        {"/ark:12345/x", Info},
		"/ark:12345/x???":          {"/ark:12345/x???", NoInflection},
		"/ark:12345/x?info=1":      {"/ark:12345/x?info=1", NoInflection},
		"/ark:12345/x?a&info":      {"/ark:12345/x?a&info", NoInflection},
		"/ark:12345/x%3F%3F":       {"/ark:12345/x%3F%3F", NoInflection},
		"http://h/ark:12345/x??":   {"http://h/ark:12345/x", Full},
		"/ark:12345/x?INFO":        {"/ark:12345/x?INFO", NoInflection},
		"/ark:12345/x??info":       {"/ark:12345/x??info", NoInflection},
		"/ark:12345/x?info?":       {"/ark:12345/x?info?", NoInflection},
		"/ark:12345/x?s=I2C?info":  {"/ark:12345/x?s=I2C?info", NoInflection},
		"/ark:12345/x/?info":       {"/ark:12345/x/", Info},
		"?":                        {"", Brief},
		"/ark:12345/x?info%20":     {"/ark:12345/x?info%20", NoInflection},
		"/ark:12345/x?at=2020&?":   {"/ark:12345/x?at=2020&?", NoInflection},
		"/.well-known/ark?":        {"/.well-known/ark", Brief},
		"/ark:12345/x?%69nfo":      {"/ark:12345/x?%69nfo", NoInflection},
		"/ark:12345/x-?":           {"/ark:12345/x-", Brief},
		"/ark:12345/x.?":           {"/ark:12345/x.", Brief},
		"/ark:12345/x?format=info": {"/ark:12345/x?format=info", NoInflection},
	} {
		if path, i := CutInflection(target); path != want.path || i != want.inflection {
			t.Errorf("CutInflection(%q) = %q, %q; want %q, %q", target, path, i, want.path, want.inflection)
		}
	}
}
