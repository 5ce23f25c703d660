"""Settings and assembly: the only room that knows concrete classes and puts them together."""
