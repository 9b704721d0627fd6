package mime
