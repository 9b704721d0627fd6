package pages

import (
	"path/filepath"
	"testing"

	"github.com/nomen-project/nomen/internal/messages/messagestest"
)

// sameTexts are the texts that are the same in English and in other languages.
func sameTexts() map[string]string {
	return map[string]string{
		"edit.element": "de", "edit.text": "de", "jobs.import": "de", "location.url": "de", "upload.format": "de", "upload.jsonl": "de",
		"names.status": "de", "role.with-rights": "de", "users.name": "de", "authorities.result": "de", "authorities.to": "de",
		"value.format": "de", "value.index": "de", "value.ttl": "de", "dashboard.token": "de",
	}
}

// TestTextsAreComplete compares the keys of the catalogues with their uses and with each other.
func TestTextsAreComplete(t *testing.T) {
	set, err := readTexts()
	if err != nil {
		t.Fatal(err)
	}
	templates, _ := filepath.Glob("html/*.html")
	code, _ := filepath.Glob("*.go")
	if len(templates) < 10 || len(code) < 10 {
		t.Fatalf("found %d templates and %d files of Go", len(templates), len(code))
	}
	messagestest.Check(t, set, messagestest.Options{Prefix: messagePrefix, Sources: append(templates, code...), Same: sameTexts()})
}
