package admin

import (
	"testing"
)

// The tests of jobs pass if the jobs are in a store that several servers share.
func TestSharedJobs(t *testing.T) {
	for name, test := range map[string]func(*testing.T){
		"ApplyImport": TestApplyImport, "ApplyAfterOtherChanges": TestApplyAfterOtherChanges, "ApplyRights": TestApplyRights,
		"JobKey": TestJobKey, "ApplyRelocationAndUndo": TestApplyRelocationAndUndo, "UploadAgain": TestUploadAgain,
		"KeepParameters": TestKeepParameters, "ImportEstimate": TestImportEstimate,
	} {
		t.Run(name, test)
	}
	for name, test := range secondTests() {
		t.Run("second person "+name, func(t *testing.T) { test(t, inMemory) })
	}
}
