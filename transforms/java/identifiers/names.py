"""New names for Java's variables: frequent names, and names that no renaming gives."""

from typing import Final

from codeaudit.transforms.java.analysis.knowledge import CONTEXTUAL, KEYWORDS, ROOTS
from codeaudit.transforms.naming import Lexicon

_FREQUENT: Final = """
    access account action actual address alias annotation answer args argument arguments array artifact
    attribute attributes base batch bean begin binary block body bound bucket bucket_size buf buffer builder
    bytes cache callback candidate candidates capacity catalog cause channel charset child children chunk
    class_loader class_name clazz client code col collection collector column column_name columns command
    comparator component conf config configuration conn connection constraint consumer container content
    content_type context converter copy count counter ctx current cursor data date decimal decoder defaults
    definition delegate delta dependency depth desc descriptor dest destination details diff digest dir
    directory document domain element element_type elements encoding end endpoint entity entries entry env
    error event ex exception executor existing expected expression extension factory failure field field_name
    fields file file_name filter first flag folder format found fragment future group handle handler hash
    header headers height hint holder host id identifier index info initial inner input input_stream instance
    item iterator job key key_type keys kind label last latch layout left len length level limit line
    lines link listener loader local_name locale location lock log_entry lower manager map mapping marker mask
    matcher max member message metadata method method_name min mode model module msg name names namespace
    nested next_value node nodes num object_name offset old_value operation operator option options
    order origin outer output output_stream owner parameter parameters params parent parser part partition
    parts path paths pattern payload pending pool port pos position precision predicate prefix previous
    principal priority probe process property property_name protocol provider proxy query queue range rate
    reader reason receiver record_count ref reference region registry remaining replica reply repository req
    request res resolver resource response rest result result_set results ret retries right role root row rows
    rule sample scale schema scope segment selector separator sequence server service session settings
    shape signature size slice snapshot source spec start state statement status step store strategy str
    stream string subject suffix symbol table table_name target task tasks template text threshold
    time timeout timestamp tmp token tokens total transaction tree type_name unit updated uri url
    user val value values variable vector view visitor width word worker wrapper writer zone
"""

NATURAL: Final[tuple[str, ...]] = tuple(_FREQUENT.split())
"""Names of local variables that are frequent in Java code, in snake case."""

_RESERVED: Final = KEYWORDS | CONTEXTUAL | ROOTS


def reserved(name: str) -> bool:
    """Whether no strategy gives this name: a keyword of any kind, a first part of packages, `_`, or one with
    `$`.
    """
    return name in _RESERVED or not name.strip("_") or "$" in name


JAVA: Final = Lexicon(NATURAL, reserved, camel=True)
"""The form of new names for Java's variables."""
