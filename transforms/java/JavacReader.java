import com.sun.source.tree.*;
import com.sun.source.util.JavacTask;
import com.sun.source.util.SourcePositions;
import com.sun.source.util.TreeScanner;
import com.sun.source.util.Trees;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Set;
import javax.tools.Diagnostic;
import javax.tools.DiagnosticCollector;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.ToolProvider;

/**
 * Tells how javac reads texts. Each line of the input is a text in base64, and a line without text asks for the
 * answers. An answer is one line: "!" and a message for a text that is not Java, else the nodes of its tree as
 * "kind:start:end" in characters (UTF-16). Names, types, annotations and declarations of variables are left out.
 * See javac_reader.py.
 */
class JavacReader {
    static final List<String> OPTIONS = List.of("-XDallowStringFolding=false", "-proc:none");

    public static void main(String[] arguments) throws IOException {
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        var in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.US_ASCII));
        var out = new PrintStream(System.out, false, StandardCharsets.UTF_8);
        var answers = new StringBuilder();
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            if (line.isEmpty()) {
                out.print(answers);
                out.flush();
                answers.setLength(0);
                continue;
            }
            var text = new String(Base64.getDecoder().decode(line), StandardCharsets.UTF_8);
            answers.append(told(compiler, text)).append('\n');
        }
    }

    static String told(JavaCompiler compiler, String text) throws IOException {
        var file = new SimpleJavaFileObject(URI.create("string:///Text.java"), JavaFileObject.Kind.SOURCE) {
            @Override
            public CharSequence getCharContent(boolean ignored) {
                return text;
            }
        };
        var problems = new DiagnosticCollector<JavaFileObject>();
        try {
            var task = (JavacTask) compiler.getTask(null, null, problems, OPTIONS, null, List.of(file));
            CompilationUnitTree unit = task.parse().iterator().next();
            for (Diagnostic<?> one : problems.getDiagnostics()) {
                if (one.getKind() == Diagnostic.Kind.ERROR) {
                    return "!" + one.getMessage(null).replace('\n', ' ');
                }
            }
            var nodes = new Nodes(text, unit, Trees.instance(task).getSourcePositions());
            nodes.scan(unit, null);
            return nodes.found.toString();
        } catch (RuntimeException | StackOverflowError error) {
            return "!" + error;
        }
    }

    static class Nodes extends TreeScanner<Void, Void> {
        final String text;
        final CompilationUnitTree unit;
        final SourcePositions places;
        final StringBuilder found = new StringBuilder();
        /** What stands behind the arrows of cases: of an expression javac makes a statement at times. */
        final Set<Tree> bodies = Collections.newSetFromMap(new IdentityHashMap<>());

        Nodes(String text, CompilationUnitTree unit, SourcePositions places) {
            this.text = text;
            this.unit = unit;
            this.places = places;
        }

        void note(String kind, Tree node) {
            found.append(kind).append(':').append(places.getStartPosition(unit, node)).append(':')
                .append(places.getEndPosition(unit, node)).append(' ');
        }

        @Override
        public Void scan(Tree node, Void nothing) {
            String kind = node == null ? null : kind(node);
            boolean ofRule = node instanceof ExpressionStatementTree && bodies.contains(node);
            if (kind != null && !ofRule) {
                note(kind, node);
            }
            return super.scan(node, nothing);
        }

        static String kind(Tree node) {
            String name = node.getKind().name();
            return switch (node.getKind()) {
                case IDENTIFIER, MEMBER_SELECT, COMPILATION_UNIT, MODIFIERS, VARIABLE, CASE, CATCH, IMPORT, BLOCK,
                    PRIMITIVE_TYPE, ARRAY_TYPE, PARAMETERIZED_TYPE, UNION_TYPE, INTERSECTION_TYPE, TYPE_PARAMETER,
                    ANNOTATED_TYPE, ANNOTATION, TYPE_ANNOTATION, EXTENDS_WILDCARD, SUPER_WILDCARD,
                    UNBOUNDED_WILDCARD, PACKAGE, MODULE, CLASS, INTERFACE, ENUM, RECORD, ANNOTATION_TYPE, NEW_CLASS -> null;
                case SWITCH, SWITCH_EXPRESSION -> "SWITCH";
                default -> node instanceof LiteralTree ? "LITERAL"
                    : !(node instanceof UnaryTree) && (node instanceof ExpressionTree
                    || node instanceof StatementTree || node instanceof MethodTree) ? name : null;
            };
        }

        @Override
        public Void visitCompilationUnit(CompilationUnitTree node, Void nothing) {
            for (Tree member : node.getTypeDecls()) {
                if (!(member instanceof EmptyStatementTree)) {
                    scan(member, nothing);
                }
            }
            return null;
        }

        /** Where a sign stands directly before a whole number, javac takes both for one literal, but not always. */
        @Override
        public Void visitUnary(UnaryTree node, Void nothing) {
            Tree inner = node.getExpression();
            boolean signed = node.getKind() == Tree.Kind.UNARY_MINUS
                && !text.startsWith("-", (int) places.getStartPosition(unit, inner))
                && (inner.getKind() == Tree.Kind.INT_LITERAL || inner.getKind() == Tree.Kind.LONG_LITERAL);
            String name = node.getKind().name();
            note(signed ? "LITERAL" : name.endsWith("CREMENT") ? "UPDATE" : name, node);
            return signed ? null : super.visitUnary(node, nothing);
        }

        @Override
        public Void visitAnnotation(AnnotationTree node, Void nothing) {
            return null;
        }

        @Override
        public Void visitBlock(BlockTree node, Void nothing) {
            note("BLOCK", node);
            return super.visitBlock(node, nothing);
        }

        @Override
        public Void visitClass(ClassTree node, Void nothing) {
            if (!node.getSimpleName().isEmpty()) {
                note("TYPE", node);
            }
            for (Tree member : node.getMembers()) {
                if (member instanceof EmptyStatementTree) {
                    continue;
                } else if (member instanceof BlockTree block) {
                    scan(block.getStatements(), nothing);
                } else if (member instanceof VariableTree field && isConstant(node, field)) {
                    var made = (NewClassTree) field.getInitializer();
                    scan(made.getArguments(), nothing);
                    if (made.getClassBody() != null) {
                        visitClass(made.getClassBody(), nothing);
                    }
                } else if (places.getEndPosition(unit, member) >= 0) {
                    scan(member, nothing);
                }
            }
            return null;
        }

        /** Whether a member is a constant of an enum, which javac takes for a field with the value new E(). */
        boolean isConstant(ClassTree type, VariableTree field) {
            return type.getKind() == Tree.Kind.ENUM && field.getInitializer() instanceof NewClassTree made
                && places.getStartPosition(unit, made.getIdentifier()) <= places.getStartPosition(unit, field);
        }

        @Override
        public Void visitNewClass(NewClassTree node, Void nothing) {
            note("NEW_CLASS", node);
            scan(node.getEnclosingExpression(), nothing);
            scan(node.getArguments(), nothing);
            return node.getClassBody() == null ? null : visitClass(node.getClassBody(), nothing);
        }

        @Override
        public Void visitMethod(MethodTree node, Void nothing) {
            scan(node.getBody(), nothing);
            return scan(node.getDefaultValue(), nothing);
        }

        @Override
        public Void visitVariable(VariableTree node, Void nothing) {
            return scan(node.getInitializer(), nothing);
        }

        @Override
        public Void visitTypeCast(TypeCastTree node, Void nothing) {
            return scan(node.getExpression(), nothing);
        }

        @Override
        public Void visitForLoop(ForLoopTree node, Void nothing) {
            node.getInitializer().forEach(this::alone);
            scan(node.getCondition(), nothing);
            node.getUpdate().forEach(this::alone);
            return scan(node.getStatement(), nothing);
        }

        @Override
        public Void visitCase(CaseTree node, Void nothing) {
            if (node.getCaseKind() == CaseTree.CaseKind.RULE) {
                bodies.add(node.getBody());
            }
            return super.visitCase(node, nothing);
        }

        /** A part of a for, which javac takes for a statement. */
        void alone(StatementTree node) {
            scan(node instanceof ExpressionStatementTree one ? one.getExpression() : node, null);
        }
    }
}
