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
		"SecondPersonRelocates": TestSecondPersonRelocates, "SecondPersonNotNeeded": TestSecondPersonNotNeeded, "SecondPersonApplies": TestSecondPersonApplies,
		"SecondPersonFindsOtherNames": TestSecondPersonFindsOtherNames, "SecondPersonRedacts": TestSecondPersonRedacts,
		"SecondPersonFindsOtherRevision": TestSecondPersonFindsOtherRevision, "SecondPersonInvalid": TestSecondPersonInvalid,
		"SecondPersonRestart": TestSecondPersonRestart, "SecondPersonLapses": TestSecondPersonLapses, "SecondPersonLimit": TestSecondPersonLimit,
		"SecondPersonTokens": TestSecondPersonTokens, "SecondPersonUsers": TestSecondPersonUsers, "JobsNameUsers": TestJobsNameUsers,
	} {
		t.Run(name, test)
	}
}
