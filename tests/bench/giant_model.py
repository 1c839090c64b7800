#!/usr/bin/env python3
"""giant_model.py MODEL PHASE OUT.xml [OPTION]... - the IR of a model of hundreds of billions of weights, for simulation: Llama-405B and 70B, GPT-3,
DeepSeek-V3 with its experts. --sparse: a .bin of which only the integers that shapes depend on are written (a sparse file).
MODEL: llama405b llama70b gpt3 deepseek tiny; PHASE: prefill decode."""
import sys, argparse
C=dict(llama405b=dict(L=126,h=16384,n=128,kv=8,d=128,inner=53248,vocab=128256,kind="llama"),
       llama70b=dict(L=80,h=8192,n=64,kv=8,d=128,inner=28672,vocab=128256,kind="llama"),
       gpt3=dict(L=96,h=12288,n=96,kv=96,d=128,inner=49152,vocab=50257,kind="gpt"),
       deepseek=dict(L=61,dense=3,h=7168,n=128,d=128,rope=64,ql=1536,kl=512,inner=18432,moe=2048,experts=256,top=8,vocab=129280,kind="mla"),
       tiny=dict(L=3,h=256,n=8,kv=2,d=32,inner=512,vocab=1000,kind="llama"))
B={"f32":4,"f16":2,"bf16":2,"i64":8,"u8":1,"i8":1,"f8e4m3":1}
P={"f32":"FP32","f16":"FP16","bf16":"BF16","i64":"I64","i32":"I32","f8e4m3":"F8E4M3"}
a=argparse.ArgumentParser(); a.add_argument("model"); a.add_argument("phase"); a.add_argument("out")
for k,v in dict(layers=0,batch=1,past=8192,tokens=2048).items(): a.add_argument("--"+k,type=int,default=v)
a.add_argument("--elem",default="f16"); a.add_argument("--welem",default=None); a.add_argument("--sparse",action="store_true")
o=a.parse_args(); c=C[o.model]; L=o.layers or c["L"]; E=o.elem; W=o.welem or E
layers=[]; edges=[]; shape={}; et={}; off=0; nid=0; ints=[]
def prod(s):
    r=1
    for x in s: r*=x
    return r
def op(kind,name,shp,*ins,elem=None,ver="opset1",data="",nout=1):
    global nid
    i=nid; nid+=1; elem=elem or E
    outs=shp if nout>1 else [shp]; els=elem if isinstance(elem,list) else [elem]*nout
    s=[f'<layer id="{i}" name="{name}" type="{kind}" version="{ver}">']
    if data: s.append(f'<data {data}/>')
    if ins:
        s.append("<input>")
        for p,x in enumerate(ins):
            x=x if isinstance(x,tuple) else (x,0)
            s.append(f'<port id="{p}" precision="{P[et[x]]}">'+"".join(f"<dim>{d}</dim>" for d in shape[x])+"</port>")
            edges.append(f'<edge from-layer="{x[0]}" from-port="{x[1]+nin[x[0]]}" to-layer="{i}" to-port="{p}"/>')
        s.append("</input>")
    nin[i]=len(ins)
    if kind!="Result":
        s.append("<output>")
        for q in range(nout):
            shape[(i,q)]=tuple(outs[q]); et[(i,q)]=els[q]
            s.append(f'<port id="{len(ins)+q}" precision="{P[els[q]]}">'+"".join(f"<dim>{d}</dim>" for d in outs[q])+"</port>")
        s.append("</output>")
    s.append("</layer>"); layers.append("".join(s)); return (i,0)
nin={}
import struct
smalls=bytearray(); fix=[]
def const(name,shp,elem):
    global off
    n=prod(shp)*B[elem]; off=(off+63)//64*64
    x=op("Const",name,shp,elem=elem,data=f'element_type="{elem}" shape="{",".join(map(str,shp))}" offset="{off}" size="{n}"'); off+=n; return x
def I(*v):
    shp=(len(v),); x=const(f"I{nid}",shp,"i64"); ints.append((off-8*len(v),v)); return x
def Sc(v):
    x=const(f"I{nid}",(),"i64"); ints.append((off-8,(v,))); return x
def S(x): return shape[x]
def w(name,*shp):
    x=const(name,shp,W)
    if W!=E: x=op("Convert",name+"/cv",shp,x,data=f'destination_type="{E}"')
    return x
def mm(name,x,rows,cols):
    return op("MatMul",name,S(x)[:-1]+(rows,),x,w(name+".w",rows,cols),data='transpose_a="false" transpose_b="true"')
def bi(k,name,x,y):
    sa,sb=S(x),S(y); n=max(len(sa),len(sb)); sa=(1,)*(n-len(sa))+sa; sb=(1,)*(n-len(sb))+sb
    return op(k,name,tuple(max(p,q) for p,q in zip(sa,sb)),x,y,data='auto_broadcast="numpy"')
def norm(name,x):
    h=S(x)[-1]; sq=bi("Multiply",name+"/sq",x,x)
    m=op("ReduceMean",name+"/mean",S(x)[:-1]+(1,),sq,I(-1),data='keep_dims="true"')
    r=op("Sqrt",name+"/sqrt",S(m),bi("Add",name+"/eps",m,const(name+"/e",(1,1,1),E)))
    return bi("Multiply",name+"/w",bi("Divide",name+"/div",x,r),const(name+".w",(h,),E))
def reshape(name,x,*s): return op("Reshape",name,s,x,I(*s),data='special_zero="false"')
def tr(name,x,*p): return op("Transpose",name,tuple(S(x)[i] for i in p),x,I(*p))
def cat(name,ax,*xs):
    s=list(S(xs[0])); s[ax]=sum(S(x)[ax] for x in xs); return op("Concat",name,tuple(s),*xs,data=f'axis="{ax}"')
def sdpa(name,q,k,v,causal): return op("ScaledDotProductAttention",name,S(q)[:-1]+(S(v)[-1],),q,k,v,ver="opset13",data=f'causal="{str(causal).lower()}"')
def bcast(name,x,n):
    b,kv,s,d=S(x)
    if kv==n: return x
    y=op("Unsqueeze",name+"/u",(b,kv,1,s,d),x,Sc(2)); z=op("Broadcast",name+"/b",(b,kv,n//kv,s,d),y,I(b,kv,n//kv,s,d),ver="opset3",data='mode="numpy"')
    return reshape(name+"/r",z,b,n,s,d)
T=o.tokens if o.phase=="prefill" else 1; Bt=o.batch; h=c["h"]; res=[]
ids=op("Parameter","input_ids",(Bt,T),elem="i64",data=f'shape="{Bt},{T}" element_type="i64"')
x=op("Gather","embed",(Bt,T,h),w("embed.w",c["vocab"],h),ids,Sc(0),ver="opset8",data='batch_dims="0"')
cos=const("cos",(1,1,T,c.get("rope",c["d"])),E); sin=const("sin",(1,1,T,c.get("rope",c["d"])),E)
def rope(name,x):
    d=S(x)[-1]; sp=op("Split",name+"/sp",[S(x)[:-1]+(d//2,)]*2,x,Sc(3),data='num_splits="2"',nout=2)
    rot=cat(name+"/cat",3,bi("Multiply",name+"/neg",(sp[0],1),const(name+"/m1",(1,),E)),(sp[0],0))
    return bi("Add",name+"/add",bi("Multiply",name+"/c",x,cos),bi("Multiply",name+"/s",rot,sin))
def cached(l,what,x,ax=2):
    if o.phase=="prefill": res.append(x); return x
    s=list(S(x)); s[ax]=o.past
    p=op("Parameter",f"past.{l}.{what}",tuple(s),data=f'shape="{",".join(map(str,s))}" element_type="{E}"')
    y=cat(f"l{l}/kvcat_{what}",ax,p,x); res.append(y); return y
def attn(l,x):
    n,kv,d=c["n"],c["kv"],c["d"]; t=f"l{l}/attn"
    hd=lambda nm,y,k: tr(nm+"/t",reshape(nm+"/r",y,Bt,T,k,d),0,2,1,3)
    q=hd(t+"/q",mm(t+".q",x,n*d,h),n); k=hd(t+"/k",mm(t+".k",x,kv*d,h),kv); v=hd(t+"/v",mm(t+".v",x,kv*d,h),kv)
    if c["kind"]=="llama": q,k=rope(t+"/qr",q),rope(t+"/kr",k)
    k,v=cached(l,"key",k),cached(l,"value",v)
    y=sdpa(t+"/sdpa",q,bcast(t+"/kb",k,n),bcast(t+"/vb",v,n),o.phase=="prefill")
    return mm(t+".o",reshape(t+"/or",tr(t+"/ot",y,0,2,1,3),Bt,T,n*d),h,n*d)
def mla(l,x):
    n,d,r=c["n"],c["d"],c["rope"]; t=f"l{l}/attn"
    q=mm(t+".qb",norm(t+"/qn",mm(t+".qa",x,c["ql"],h)),n*(d+r),c["ql"]); q=tr(t+"/qt",reshape(t+"/qr",q,Bt,T,n,d+r),0,2,1,3)
    qs=op("VariadicSplit",t+"/qs",[S(q)[:-1]+(d,),S(q)[:-1]+(r,)],q,Sc(3),I(d,r),nout=2)
    kv=mm(t+".kva",x,c["kl"]+r,h)
    ks=op("VariadicSplit",t+"/ks",[S(kv)[:-1]+(c["kl"],),S(kv)[:-1]+(r,)],kv,Sc(2),I(c["kl"],r),nout=2)
    lat=cached(l,"latent",norm(t+"/kn",(ks[0],0)),1)
    kr=cached(l,"krope",rope(t+"/krr",reshape(t+"/kr",(ks[0],1),Bt,1,T,r)),2)
    Tk=S(lat)[1]
    kvb=tr(t+"/kvt",reshape(t+"/kvr",mm(t+".kvb",lat,n*2*d,c["kl"]),Bt,Tk,n,2*d),0,2,1,3)
    kb=op("VariadicSplit",t+"/kb",[S(kvb)[:-1]+(d,)]*2,kvb,Sc(3),I(d,d),nout=2)
    krb=op("Broadcast",t+"/krb",(Bt,n,Tk,r),kr,I(Bt,n,Tk,r),ver="opset3",data='mode="numpy"')
    y=sdpa(t+"/sdpa",cat(t+"/qc",3,(qs[0],0),rope(t+"/qrope",(qs[0],1))),cat(t+"/kc",3,(kb[0],0),krb),(kb[0],1),o.phase=="prefill")
    return mm(t+".o",reshape(t+"/or",tr(t+"/ot",y,0,2,1,3),Bt,T,n*d),h,n*d)
def gated(t,x,inner):
    g=mm(t+".gate",x,inner,h); g=op("Swish",t+"/sw",S(g),g,ver="opset4")
    return mm(t+".down",bi("Multiply",t+"/mul",g,mm(t+".up",x,inner,h)),h,inner)
def ffn(l,x):
    t=f"l{l}/mlp"
    if c["kind"]=="llama": return gated(t,x,c["inner"])
    if c["kind"]=="gpt":
        g=mm(t+".fc",x,c["inner"],h); g=op("Gelu",t+"/gelu",S(g),g,ver="opset7",data='approximation_mode="TANH"'); return mm(t+".proj",g,h,c["inner"])
    if l<c["dense"]: return gated(t,x,c["inner"])
    N=Bt*T; cap=max(1,N*c["top"]//c["experts"]); flat=reshape(t+"/flat",x,N,h)
    sc=op("Sigmoid",t+"/sig",(N,c["experts"]),mm(t+".router",flat,c["experts"],h))
    y=gated(t+".shared",flat,c["moe"])
    tk=op("TopK",t+"/topk",[(cap,c["experts"])]*2,sc,Sc(cap),ver="opset11",data='axis="0" mode="max" sort="value" index_element_type="i64"',nout=2,elem=[E,"i64"])
    wv=op("Split",t+"/wsp",[(cap,1)]*c["experts"],(tk[0],0),Sc(1),data=f'num_splits="{c["experts"]}"',nout=c["experts"])
    iv=op("Split",t+"/isp",[(cap,1)]*c["experts"],(tk[0],1),Sc(1),data=f'num_splits="{c["experts"]}"',nout=c["experts"],elem=["i64"]*c["experts"])
    outs=[];idx=[]
    for e in range(c["experts"]):
        te=f"{t}.e{e}"; ix=reshape(te+"/ix",(iv[0],e),cap)
        xi=op("Gather",te+"/g",(cap,h),flat,ix,Sc(0),ver="opset8",data='batch_dims="0"')
        outs.append(bi("Multiply",te+"/wm",gated(te,xi,c["moe"]),(wv[0],e))); idx.append((iv[0],e))
    allo=cat(t+"/cat",0,*outs); alli=cat(t+"/cati",0,*idx)
    y=op("ScatterNDUpdate",t+"/sc",(N,h),y,alli,allo,ver="opset15",data='reduction="sum"')
    return reshape(t+"/unflat",y,Bt,T,h)
for l in range(L):
    x=bi("Add",f"l{l}/r1",x,(mla if c["kind"]=="mla" else attn)(l,norm(f"l{l}/n1",x)))
    x=bi("Add",f"l{l}/r2",x,ffn(l,norm(f"l{l}/n2",x)))
y=norm("nf",x)
if o.phase=="prefill": y=op("Gather","last",(Bt,1,h),y,I(T-1),Sc(1),ver="opset8",data='batch_dims="0"')
y=mm("head",y,c["vocab"],h)
for k,r in enumerate([y]+res): op("Result",f"res{k}",None,r)
with open(o.out,"w") as f:
    f.write(f'<?xml version="1.0"?>\n<net name="{o.model}" version="11">\n<layers>\n'+"\n".join(layers)+"\n</layers>\n<edges>\n"+"\n".join(edges)+"\n</edges>\n</net>\n")
if o.sparse:
    with open(o.out[:-4]+".bin","wb") as f:
        f.truncate(off)
        for p,v in ints: f.seek(p); f.write(struct.pack(f"<{len(v)}q",*v))
print(f"{o.out}: {nid} layers, {len(edges)} edges, weights {off/1e9:.1f} GB",file=sys.stderr)
