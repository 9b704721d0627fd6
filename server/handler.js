(function () {
	var box = document.getElementById("handler");
	if (!box || !window.isSecureContext || !navigator.registerProtocolHandler) {
		return;
	}
	box.hidden = false;
	box.querySelector("button").addEventListener("click", function () {
		navigator.registerProtocolHandler("web+urn", document.forms[0].action + "-/handler?uri=%s");
	});
})();
